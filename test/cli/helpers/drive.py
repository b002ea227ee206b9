"""Drives a served account as an operator would, with nothing but what `quiesce serve` says to export."""

import json
import sys
import time

import boto3

machine, target_group, table, instance = sys.argv[1:]

ec2 = boto3.client("ec2")
described = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
status = ec2.describe_application_status(InstanceIds=[instance])["ApplicationStatuses"]["Instances"][0]
enabled = ec2.enable_application_status_check_suppression(InstanceIds=[instance], DurationSeconds=3600)

elb = boto3.client("elbv2")
elb.deregister_targets(TargetGroupArn=target_group, Targets=[{"Id": instance, "Port": 8080}])
health = elb.describe_target_health(TargetGroupArn=target_group, Targets=[{"Id": instance, "Port": 8080}])
draining = health["TargetHealthDescriptions"][0]["TargetHealth"]["State"]
elb.register_targets(TargetGroupArn=target_group, Targets=[{"Id": instance, "Port": 8080}])

groups = boto3.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]

states = boto3.client("stepfunctions")
request = {"runId": "boto3", "fleet": {"instanceIds": [instance]}}
execution = states.start_execution(stateMachineArn=machine, name="before-boto3", input=json.dumps(request))
while True:
    run = states.describe_execution(executionArn=execution["executionArn"])
    if run["status"] != "RUNNING":
        break
    time.sleep(0.1)

refused = None
try:
    ec2.describe_instances(InstanceIds=["i-00000000000000000"])
except ec2.exceptions.ClientError as error:
    refused = error.response["Error"]["Code"]

print(
    json.dumps(
        {
            "described": described["InstanceId"],
            "status": status["ApplicationStatus"]["Status"],
            "enabled": [result["InstanceId"] for result in enabled["SuccessfulResults"]],
            "draining": draining,
            "groups": [group["AutoScalingGroupName"] for group in groups],
            "run": run["status"],
            "ledger": boto3.client("dynamodb").scan(TableName=table)["Count"] > 0,
            "refused": refused,
        }
    )
)
