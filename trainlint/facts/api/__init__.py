"""torch's API as data: what operations make, keep, cut and expect."""
