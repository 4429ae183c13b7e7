"""`frontier instance`: the Dagster instance of the home folder, put in place and asked."""

from rich.console import Console


def instance() -> None:
    """Put the settings of the Dagster instance in place, and see that its storage answers.

    Variables that name a price file that cannot be read, or an address that is none, are refused.
    FRONTIER_INSTANCE names other settings than the shipped ones: deploy/dagster_fleet.yaml for several hosts.
    Settings that an earlier version wrote become those of this one; edited ones stay, and what they lack is said.
    """
    from pipeline.definitions import default_home, outside
    from resources.dagster_runs import open_instance, prepare_instance
    from resources.instance_settings import lacking

    here = outside(default_home())
    here.prices.refuse_unreadable()
    here.sweep_store.refuse_bad_address()
    with open_instance(default_home()) as opened:
        storage, launcher = (type(part).__name__ for part in (opened.run_storage, opened.run_launcher))
    out = Console(highlight=False, markup=False, soft_wrap=True)
    folder = prepare_instance(default_home())
    out.print(f"{folder}: runs in {storage}, started by {launcher}")
    advice = lacking(folder / "dagster.yaml")
    if advice:
        out.print(advice)
