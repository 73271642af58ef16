"""What a frozen application needs of stanlib: translated programs name its modules at run time."""
from PyInstaller.utils.hooks import collect_submodules

hiddenimports = collect_submodules("stanlib")
