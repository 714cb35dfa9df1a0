"""What all tests share: hypothesis draws the same examples every time, so that a failure can be seen again."""

from hypothesis import HealthCheck, settings

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")
