"""The bench: everything of one host that a measured sweep uses, as one resource of resources.

Belongs here: which ones they are. Not here: what is done with them (assets/measured_sweep.py).
"""

import dagster as dg

from resources.device_lock import Devices
from resources.engine_builder import EngineBuilder
from resources.engine_server import EngineServers
from resources.host_probe import HostProbe
from resources.load_calibration import LoadCalibration
from resources.load_generator import LoadGenerator
from resources.made_model import MadeModels


class Bench(dg.ConfigurableResource):
    """Builds, devices, servers, load client and its calibration, models and probe of one host."""

    builder: EngineBuilder
    devices: Devices
    servers: EngineServers
    client: LoadGenerator
    calibration: LoadCalibration
    models: MadeModels
    probe: HostProbe
