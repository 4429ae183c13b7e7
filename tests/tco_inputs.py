"""Inputs of a computed price of 2 USD per GPU-hour: 35,040 USD over four years of 8,760 hours, half of them loaded."""

INPUTS = {
    "server_capital_usd_gpu": 35040.0,
    "network_capital_usd_gpu": 0.0,
    "life_years": 4.0,
    "cost_of_capital_share_year": 0.0,
    "maintenance_share_year": 0.0,
    "colocation_usd_kw_month": 0.0,
    "it_power_kw_gpu": 1.0,
    "power_usd_kwh": 0.0,
    "pue": 1.0,
    "utilisation_share": 0.5,
}


def tco_block(gpu: str, as_of: str, source: str, **changes: float) -> str:
    """The block of a GPU in tco.toml, every input of one day and source."""
    lines = (
        f"{key} = {{ value = {value}, as_of = {as_of}, source = '{source}' }}\n"
        for key, value in (INPUTS | changes).items()
    )
    return f"[{gpu}]\n" + "".join(lines)
