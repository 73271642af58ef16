"""Many fits of one model: data sets, calibration, refits without a group."""
