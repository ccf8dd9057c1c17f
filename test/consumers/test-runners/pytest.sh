# Python is no package of npm: pytest may be missing.
if python3 -c 'import pytest'; then exec python3 -m pytest -q; fi
echo 'skipped: pytest is not installed'
