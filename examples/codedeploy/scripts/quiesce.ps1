# Asks Quiesce before a deployment works on this instance, and after: the twin of quiesce.sh for Windows.
# Needs PowerShell 5.1 and the curl.exe of Windows, 7.75 or later.
#
#   quiesce.ps1 [before|gate|after]
#
# CodeDeploy gives a hook script no arguments: without one the lifecycle event decides. The hook's URL is taken from
# QUIESCE_HOOK_URL, else from the file hook-url beside this script, else from C:\ProgramData\quiesce\hook-url.
param([string]$Act = $env:LIFECYCLE_EVENT)
$ErrorActionPreference = 'Stop'

$metadata = if ($env:AWS_EC2_METADATA_SERVICE_ENDPOINT) { $env:AWS_EC2_METADATA_SERVICE_ENDPOINT } else { 'http://169.254.169.254' }
# Less than the timeout in appspec.yml, so that the reason is in the log when time runs out.
$limitSeconds = if ($env:QUIESCE_LIMIT_SECONDS) { [int]$env:QUIESCE_LIMIT_SECONDS } else { 3240 }
$retrySeconds = 15
$mostFailures = 10

# The metadata service is on this machine: no proxy reaches it.
[System.Net.WebRequest]::DefaultWebProxy = New-Object System.Net.WebProxy

function Fail([string]$why) {
    [Console]::Error.WriteLine("quiesce: $why")
    exit 1
}

function Get-HookUrl {
    if ($env:QUIESCE_HOOK_URL) { return $env:QUIESCE_HOOK_URL }
    foreach ($file in "$PSScriptRoot\hook-url", "$env:ProgramData\quiesce\hook-url") {
        if (Test-Path $file) { return (Get-Content -Raw $file).Trim() }
    }
}

function Get-Metadata([string]$path, [string]$token) {
    Invoke-RestMethod -TimeoutSec 10 -Headers @{ 'x-aws-ec2-metadata-token' = $token } -Uri "$metadata/latest/meta-data/$path"
}

# Gives the status and the answer of the hook. Throws the reason when it cannot be reached.
function Send-Question {
    try {
        $token = Invoke-RestMethod -TimeoutSec 10 -Method Put -Uri "$metadata/latest/api/token" `
            -Headers @{ 'x-aws-ec2-metadata-token-ttl-seconds' = '300' }
        $instance = Get-Metadata 'instance-id' $token
        $region = Get-Metadata 'placement/region' $token
    } catch { throw 'the instance metadata service does not answer' }
    try {
        $role = Get-Metadata 'iam/security-credentials/' $token
        $credentials = Get-Metadata "iam/security-credentials/$role" $token
    } catch { throw 'the instance has no credentials: does it have an instance profile?' }

    $question = @{
        act = $act; deploymentId = $env:DEPLOYMENT_ID; lifecycleEvent = $env:LIFECYCLE_EVENT; instanceId = $instance
    } | ConvertTo-Json -Compress
    # Credentials and the body go through standard input: arguments are there for every process to read.
    $config = @(
        "user = `"$($credentials.AccessKeyId):$($credentials.SecretAccessKey)`"",
        "header = `"x-amz-security-token: $($credentials.Token)`"",
        'header = "content-type: application/json"',
        "data = `"$($question.Replace('\', '\\').Replace('"', '\"'))`""
    )
    $lines = @($config | & curl.exe --silent --connect-timeout 10 --max-time 75 --config - `
            --aws-sigv4 "aws:amz:${region}:lambda" --write-out '\n%{http_code}' $url)
    if ($LASTEXITCODE -ne 0) { throw "the hook cannot be reached: curl ends with $LASTEXITCODE" }
    $status = $lines[-1]
    if ($status -notin '200', '403') { throw "the hook answers with HTTP status $status" }
    @{ Status = $status; Text = ($lines[0..($lines.Count - 2)] -join '') }
}

$act = switch -Regex ($Act) {
    '^(before|BeforeBlockTraffic)$' { 'before' }
    '^(gate|AfterBlockTraffic|ApplicationStop|BeforeInstall)$' { 'gate' }
    '^(after|ValidateService|AfterAllowTraffic)$' { 'after' }
    default { Fail "there is nothing to do at '$Act': use before, gate or after" }
}
if (-not $env:DEPLOYMENT_ID -or -not $env:LIFECYCLE_EVENT) { Fail 'this is not a hook of a CodeDeploy deployment' }
$url = Get-HookUrl
if (-not $url) { Fail "the URL of the hook is not known: write it to $env:ProgramData\quiesce\hook-url" }

$said = ''
$failures = 0
$ends = (Get-Date).AddSeconds($limitSeconds)
while ($true) {
    try {
        $hook = Send-Question
        $failures = 0
        $answer = try { $hook.Text | ConvertFrom-Json } catch { $null }
        $reason = if ($answer.reason) { $answer.reason } else { "refused: $($hook.Text)" }
        $verdict = "$($hook.Status):$($answer.verdict)"
        $pause = if ($null -ne $answer.waitSeconds) { [int]$answer.waitSeconds } else { $retrySeconds }
    } catch {
        $failures++
        $reason = $_.Exception.Message
        $verdict = 'unreached'
        $pause = $retrySeconds
    }
    switch ($verdict) {
        '200:go-ahead' {
            if ($reason -ne $said) { Write-Output "quiesce: $reason" }
            exit 0
        }
        '200:wait' { }
        'unreached' {
            if ($failures -ge $mostFailures) { Fail "given up after $failures attempts: $reason" }
        }
        default { Fail $reason }
    }
    if ($reason -ne $said) { Write-Output "quiesce: $reason" }
    $said = $reason
    if ((Get-Date).AddSeconds($pause) -ge $ends) { Fail "given up before CodeDeploy's own timeout: $reason" }
    Start-Sleep -Seconds $pause
}
