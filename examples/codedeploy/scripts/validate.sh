#!/usr/bin/env bash
# Waits until the application answers, for as long as its timeout in appspec.yml allows.
set -uo pipefail
url=${HEALTH_URL:-http://localhost:8080/health}
until curl --silent --fail --output /dev/null --max-time 5 "$url"; do
  sleep 5
done
