#!/usr/bin/env bash
# Asks Quiesce before a deployment works on this instance, and after. Needs bash and curl 7.75 or later.
#
#   quiesce.sh [before|gate|after]
#
# CodeDeploy gives a hook script no arguments: without one the lifecycle event decides. The hook's URL is taken from
# QUIESCE_HOOK_URL, else from the file hook-url beside this script, else from /etc/quiesce/hook-url.
set -uo pipefail

metadata=${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}
# Less than the timeout in appspec.yml, so that the reason is in the log when time runs out.
limit_seconds=${QUIESCE_LIMIT_SECONDS:-3240}
retry_seconds=15
most_failures=10
directory=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "quiesce: $1" >&2
  exit 1
}

# The value of a member of a flat JSON object, undecoded.
member() {
  local pattern="\"$1\"[[:space:]]*:[[:space:]]*(\"(([^\"\\]|\\\\.)*)\"|([0-9]+))"
  [[ $2 =~ $pattern ]] && echo "${BASH_REMATCH[2]}${BASH_REMATCH[4]}"
}

hook_url() {
  local file
  if [[ -n ${QUIESCE_HOOK_URL:-} ]]; then
    echo "$QUIESCE_HOOK_URL"
    return
  fi
  for file in "$directory/hook-url" /etc/quiesce/hook-url; do
    if [[ -r $file ]]; then
      tr -d '[:space:]' <"$file"
      return
    fi
  done
}

of_metadata() {
  curl --silent --fail --noproxy '*' --connect-timeout 2 --max-time 10 \
    --header "x-aws-ec2-metadata-token: $metadata_token" "$metadata/latest/meta-data/$1"
}

# Sets instance and region, once, and key, secret and session; or reason, when this machine does not tell them.
read_metadata() {
  local role credentials
  reason="the instance metadata service does not answer"
  metadata_token=$(curl --silent --fail --noproxy '*' --connect-timeout 2 --max-time 10 --request PUT \
    --header 'x-aws-ec2-metadata-token-ttl-seconds: 300' "$metadata/latest/api/token") || return
  [[ -n $instance ]] || instance=$(of_metadata instance-id) || return
  [[ -n $region ]] || region=$(of_metadata placement/region) || return
  reason="the instance has no credentials: does it have an instance profile?"
  role=$(of_metadata iam/security-credentials/) &&
    credentials=$(of_metadata "iam/security-credentials/$role") &&
    key=$(member AccessKeyId "$credentials") && secret=$(member SecretAccessKey "$credentials") &&
    session=$(member Token "$credentials")
}

# Sets status and answer; or reason, when the hook cannot be reached.
ask() {
  local body response
  read_metadata || return
  body="{\"act\":\"$act\",\"deploymentId\":\"$DEPLOYMENT_ID\",\"lifecycleEvent\":\"$LIFECYCLE_EVENT\",\"instanceId\":\"$instance\"}"
  # Credentials go through standard input: arguments are there for every process to read.
  if ! response=$(printf 'user = "%s:%s"\nheader = "x-amz-security-token: %s"\n' "$key" "$secret" "$session" |
    curl --silent --show-error --connect-timeout 10 --max-time 75 --config - --aws-sigv4 "aws:amz:$region:lambda" \
      --header 'content-type: application/json' --data "$body" --write-out '\n%{http_code}' "$url" 2>&1); then
    reason="the hook cannot be reached: ${response//$'\n'/ }"
    return 1
  fi
  status=${response##*$'\n'}
  answer=${response%$'\n'*}
  case $status in
  200 | 403) ;;
  *)
    reason="the hook answers with HTTP status $status"
    return 1
    ;;
  esac
}

say_once() {
  [[ $1 == "$said" ]] || echo "quiesce: $1"
  said=$1
}

case ${1:-${LIFECYCLE_EVENT:-}} in
before | BeforeBlockTraffic) act=before ;;
gate | AfterBlockTraffic | ApplicationStop | BeforeInstall) act=gate ;;
after | ValidateService | AfterAllowTraffic) act=after ;;
*) fail "there is nothing to do at '${1:-${LIFECYCLE_EVENT:-}}': use before, gate or after" ;;
esac
[[ -n ${DEPLOYMENT_ID:-} && -n ${LIFECYCLE_EVENT:-} ]] || fail "this is not a hook of a CodeDeploy deployment"
url=$(hook_url)
[[ -n $url ]] || fail "the URL of the hook is not known: write it to /etc/quiesce/hook-url"

instance='' region='' said='' failures=0
ends=$(($(date +%s) + limit_seconds))
while :; do
  if ask; then
    failures=0
    reason=$(member reason "$answer")
    case $status:$(member verdict "$answer") in
    200:go-ahead)
      say_once "$reason"
      exit 0
      ;;
    200:wait) pause=$(member waitSeconds "$answer" || echo "$retry_seconds") ;;
    *) fail "${reason:-refused: $answer}" ;;
    esac
  else
    failures=$((failures + 1))
    pause=$retry_seconds
    ((failures < most_failures)) || fail "given up after $failures attempts: $reason"
  fi
  say_once "$reason"
  (($(date +%s) + pause < ends)) || fail "given up before CodeDeploy's own timeout: $reason"
  sleep "$pause"
done
