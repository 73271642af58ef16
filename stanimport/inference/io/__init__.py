"""Files: data as they are given, fits as they are saved."""
