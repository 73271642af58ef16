"""What a method found, and what can be asked of it: tables, diagnoses, predictions, plots, ArviZ."""
