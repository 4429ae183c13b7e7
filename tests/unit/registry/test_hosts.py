"""Hosts are strict as the rest of the registry, and every GPU is on one of them."""

import pytest

from pipeline.errors import RegistryError
from pipeline.registry.entries import Gpu
from pipeline.registry.hosts import KINDS, CeleryHost, KubernetesHost, parse_hosts, refuse_unknown_hosts
from pipeline.registry.loader import parse_entries
from pipeline.registry.shipped import host_of, shipped_hosts, shipped_registry, shipped_text

CELERY = '[rack_a]\nname = "Rack A"\nkind = "celery"\nqueue = "rack_a"\n'
SSH = (
    '[rack_b]\nname = "Rack B"\nkind = "ssh"\naddress = "b.example.org"\nuser = "bench"\n'
    'checkout = "/srv/frontier"\nhome = "/srv/home"\npython = "/srv/frontier/.venv/bin/python"\n'
)
SLURM = (
    '[cluster]\nname = "Cluster"\nkind = "slurm"\npartition = "gpu"\ngres = "gpu:h100:8"\ntime_limit = "1-00:00:00"\n'
    'account = "bench"\ncheckout = "/srv/frontier"\nhome = "/srv/home"\npython = "/srv/frontier/.venv/bin/python"\n'
)
KUBERNETES = (
    '[pods]\nname = "Pods"\nkind = "kubernetes"\nimage = "registry.example.org/frontier:1"\nnamespace = "bench"\n'
    'node_selector = { gpu = "h100" }\nlimits = { "nvidia.com/gpu" = "8" }\ntime_limit_s = 86400\n'
)


def test_there_is_one_kind_for_each_block_of_an_example():
    hosts = parse_hosts(CELERY + SSH + SLURM + KUBERNETES, "hosts.toml")
    assert [host.kind for host in hosts.values()] == ["celery", "ssh", "slurm", "kubernetes"]
    assert set(KINDS) == {"local", *(host.kind for host in hosts.values())}
    assert isinstance(hosts["rack_a"], CeleryHost)
    assert isinstance(hosts["pods"], KubernetesHost)
    assert hosts["pods"].limits == {"nvidia.com/gpu": "8"}


def test_the_head_of_the_shipped_file_has_an_example_of_each_other_kind():
    indented = [line.removeprefix("#     ") for line in shipped_text("hosts.toml").splitlines() if "#     " in line]
    hosts = parse_hosts("\n".join(indented), "hosts.toml")
    assert {host.kind for host in hosts.values()} == set(KINDS) - {"local"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CELERY.replace("celery", "celry"), "[rack_a]: unknown kind of host; found 'celry'. Did you mean 'celery'?"),
        (CELERY.replace('kind = "celery"\n', ""), "unknown kind of host; found 'nothing'. Known: celery, kubernetes,"),
        (CELERY + 'queu = "x"\n', "hosts.toml [rack_a]: unknown key 'queu'. Did you mean 'queue'?"),
        (SSH.replace('user = "bench"\n', ""), "[rack_b]: key 'user': field required; found nothing"),
        (SSH.replace("/srv/home", "srv/home"), "key 'home'"),
        (SSH.replace("/srv/home", "/srv/my home"), "key 'home'"),
        (SSH.replace('"b.example.org"', '"-oProxyCommand=x"'), "key 'address'"),
        (SLURM.replace("1-00:00:00", "a day"), "key 'time_limit'"),
        (KUBERNETES.replace('{ gpu = "h100" }', "{}"), "key 'node_selector'"),
        (KUBERNETES.replace('"bench"', '"Bench"'), "key 'namespace'"),
        (CELERY + CELERY.replace("[rack_a]", "[rack_c]"), "[rack_c]: queue 'rack_a' belongs to two hosts; found also"),
        ("[rack_a", "not TOML"),
    ],
)
def test_a_bad_host_is_one_sentence(text, words):
    with pytest.raises(RegistryError) as error:
        parse_hosts(text, "hosts.toml")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_gpu_on_an_unknown_host_names_the_nearest_one():
    block = '[h100]\nname = "H100"\nvendor = "NVIDIA"\narchitecture = "Hopper"\nformats = ["fp8"]\nhost = "rack_q"\n'
    gpus = parse_entries(block, Gpu, "gpus.toml")
    with pytest.raises(RegistryError, match=r"gpus.toml \[h100\]: unknown host 'rack_q'. Did you mean 'rack_a'?"):
        refuse_unknown_hosts(gpus, parse_hosts(CELERY, "hosts.toml"), "gpus.toml")


def test_a_gpu_that_names_no_host_is_swept_where_the_sweep_was_started():
    assert {gpu.host for gpu in shipped_registry().gpus.values()} == {"local"}
    assert host_of("h100") == ("local", shipped_hosts()["local"])
