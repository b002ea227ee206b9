#!/usr/bin/env bash
# Asks Quiesce before a deployment works on this instance, and after. Needs bash 4.2 and curl; a curl older than
# 7.75, which cannot sign, also coreutils.
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

# A text as hexadecimal digits, and those as bytes. Secrets go through builtins and standard input only: arguments are there
# for every process to read.
to_hex() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }

from_hex() {
  local escaped='' i
  for ((i = 0; i < ${#1}; i += 2)); do escaped+="\\x${1:i:2}"; done
  printf %b "$escaped"
}

sha256() { sha256sum | cut -c 1-64; }

# HMAC-SHA256 of a text (RFC 2104); the key and the result are hexadecimal digits.
hmac() {
  local key=$1 inner='' outer='' byte i
  ((${#key} <= 128)) || key=$(from_hex "$key" | sha256)
  for ((i = 0; i < 128; i += 2)); do
    byte=${key:i:2}
    printf -v inner '%s%02x' "$inner" $((16#${byte:-00} ^ 0x36))
    printf -v outer '%s%02x' "$outer" $((16#${byte:-00} ^ 0x5c))
  done
  inner=$({ from_hex "$inner" && printf %s "$2"; } | sha256)
  from_hex "$outer$inner" | sha256
}

# Options for curl that sign a POST of $1 to the hook with the instance's credentials (AWS Signature Version 4).
signing() {
  printf 'header = "x-amz-security-token: %s"\n' "$session"
  if [[ $(curl --help all 2>/dev/null) == *--aws-sigv4* ]]; then
    printf 'user = "%s:%s"\naws-sigv4 = "aws:amz:%s:lambda"\n' "$key" "$secret" "$region"
    return
  fi
  local now scope host signed='host;x-amz-date;x-amz-security-token' request derived part
  TZ=UTC printf -v now '%(%Y%m%dT%H%M%SZ)T' -1
  scope="${now%T*}/$region/lambda/aws4_request"
  host=${url#*://}
  request="POST"$'\n/\n\n'"host:${host%%/*}"$'\n'"x-amz-date:$now"$'\n'"x-amz-security-token:$session"$'\n\n'
  request+="$signed"$'\n'$(printf %s "$1" | sha256)
  derived=$(to_hex "AWS4$secret")
  for part in "${now%T*}" "$region" lambda aws4_request; do derived=$(hmac "$derived" "$part"); done
  derived=$(hmac "$derived" "AWS4-HMAC-SHA256"$'\n'"$now"$'\n'"$scope"$'\n'"$(printf %s "$request" | sha256)")
  printf 'header = "x-amz-date: %s"\n' "$now"
  printf 'header = "authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"\n' \
    "$key" "$scope" "$signed" "$derived"
}

# Sets status and answer; or reason, when the hook cannot be reached.
ask() {
  local body response
  read_metadata || return
  body="{\"act\":\"$act\",\"deploymentId\":\"$DEPLOYMENT_ID\",\"lifecycleEvent\":\"$LIFECYCLE_EVENT\",\"instanceId\":\"$instance\"}"
  if ! response=$(signing "$body" |
    curl --silent --show-error --connect-timeout 10 --max-time 75 --config - \
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
