"""What editors ask of programs that are being written: what is wrong, what names mean, what could stand here."""
