"""SAMPLES: what the device and the host said of themselves, about once a second while a point was measured."""

from pipeline.tables.columns import Table, count, instant, number, text, texts

SAMPLES = Table(
    name="samples",
    grain="one device at one moment of the measurement of one point; a host without a device is device 0",
    columns=(
        text("point_id", "the point", nullable=False),
        instant("sampled_at", "when", nullable=False),
        count("device_index", "index of the device on its host", nullable=False),
        text("device_name", "the device's own name", nullable=False),
        number("power_w", "W", "power of the device; null where it does not say"),
        number("energy_j", "J", "the device's energy counter; null where it has none"),
        number("power_cap_w", "W", "power limit that holds"),
        number("clock_mhz", "MHz", "clock of the compute units, or of the CPU's cores (mean)"),
        number("temperature_c", "°C", "temperature of the device"),
        number("memory_used_gib", "GiB", "memory in use on the device, or on the host"),
        number("busy_share", "1", "share of the device's time, or of the host's cores, that was in use"),
        number("foreign_share", "1", "the same share for processes that are not of this sweep; null where unknown"),
        count("n_foreign_processes", "processes on the device that are not of this sweep; null on a CPU host"),
        texts("throttle_reasons", "why the device ran below its clocks: power_cap, thermal, hardware, …"),
    ),
    order=("point_id", "sampled_at", "device_index"),
)
