#!/usr/bin/env bash
# Stops the application. Yours may be another one.
set -euo pipefail
systemctl stop app
