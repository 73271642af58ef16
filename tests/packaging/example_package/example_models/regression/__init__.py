"""A package inside the package."""
