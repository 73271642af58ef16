"""Random Stan programs, against Stan itself and against each other's translations."""
