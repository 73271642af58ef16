"""What a frozen application needs of stanimport: the library that programs run on, and no compiler if it has shipped
translations of its programs. Programs themselves are data of their packages: `--collect-data PACKAGE`."""

hiddenimports = ["stanlib.backend", "stanlib"]
