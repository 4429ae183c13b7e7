"""The code location of the checkout, whose automation looks every second and catches up after a second."""

import datetime as dt

from pipeline import automation, definitions
from pipeline.automation import catch_up_sensor

automation.LOOK_EVERY_S = 1
catch_up_sensor.WAITS = (dt.timedelta(seconds=1),)
catch_up_sensor.catch_up._min_interval = 1
defs = definitions.build_defs(definitions.default_home())
