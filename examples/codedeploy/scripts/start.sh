#!/usr/bin/env bash
# Starts the application. Yours may be another one.
set -euo pipefail
systemctl start app
