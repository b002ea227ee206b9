# An application status check on an Auto Scaling group. Terraform's AWS provider has no resource for the check yet, so what belongs to
# it is a CloudFormation stack of its own that Terraform creates and deletes: examples/cloudformation/checked-fleet.yaml.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "auto_scaling_group_name" {
  type        = string
  description = "The group to check. It carries the tag quiesce=enabled."
}

variable "vpc_id" {
  type = string
}

variable "subnet_ids" {
  type        = list(string)
  description = "Two subnets of the group, in two zones."
}

variable "instance_security_group_id" {
  type        = string
  description = "What the instances carry."
}

resource "aws_cloudformation_stack" "check" {
  name          = "check-of-${var.auto_scaling_group_name}"
  template_body = file("${path.module}/../cloudformation/checked-fleet.yaml")

  parameters = {
    AutoScalingGroupName    = var.auto_scaling_group_name
    VpcId                   = var.vpc_id
    FirstSubnetId           = var.subnet_ids[0]
    SecondSubnetId          = var.subnet_ids[1]
    InstanceSecurityGroupId = var.instance_security_group_id
  }

  # The interfaces of a check go 20 minutes and more after it, and the guard waits for them.
  timeouts {
    delete = "75m"
  }
}

# The instances let the check in. This rule is Terraform's, and refers to the check's security group: it goes before the stack.
resource "aws_vpc_security_group_ingress_rule" "check" {
  security_group_id            = var.instance_security_group_id
  referenced_security_group_id = aws_cloudformation_stack.check.outputs["CheckSecurityGroupId"]
  ip_protocol                  = "tcp"
  from_port                    = 8080
  to_port                      = 8080
}

# A pipeline that Terraform describes starts these machines around its deployment.
data "aws_ssm_parameter" "before_deploy" {
  name = "/quiesce/before-deploy-arn"
}

data "aws_ssm_parameter" "after_deploy" {
  name = "/quiesce/after-deploy-arn"
}

output "check_id" {
  value = aws_cloudformation_stack.check.outputs["CheckId"]
}

output "machines" {
  value = [data.aws_ssm_parameter.before_deploy.value, data.aws_ssm_parameter.after_deploy.value]
}
