/** Whatever this product throws on purpose. Step Functions matches `name`, so each class writes its own out: bundles are minified. */
export abstract class QuiesceError extends Error {
  /** Can the same call succeed later, with nothing else changed? */
  abstract readonly retryable: boolean;
}

/** A no that a person can act on. Trying again does not help. */
export abstract class Refusal extends QuiesceError {
  readonly retryable = false;

  constructor(message: string) {
    super(message);
  }
}

/** The request is not one that this product takes. */
export class InvalidRequest extends Refusal {
  override readonly name = 'InvalidRequest';
}

/** No instance of the fleet has anything that the bracket would change (D1, D35). */
export class NothingToDo extends Refusal {
  override readonly name = 'NothingToDo';
}

/** Taking the targets out would leave less in traffic than a floor permits, and waiting cannot help (D6). */
export class BelowFloor extends Refusal {
  override readonly name = 'BelowFloor';
}

/** A whole zone of a target group fails, and the deployment would take more out of it. */
export class ZoneEvent extends Refusal {
  override readonly name = 'ZoneEvent';
}

/** Something else is changing the fleet: a refresh, or an instance that is marked Unhealthy (D4). */
export class FleetNotSettled extends Refusal {
  override readonly name = 'FleetNotSettled';
}

/** A live run holds some of the instances (D2). */
export class RunInProgress extends Refusal {
  override readonly name = 'RunInProgress';
}

/** The run has ended, so nothing more may be done in its name (D5, D12). */
export class RunEnded extends Refusal {
  override readonly name = 'RunEnded';
}

/** The ledger has no run of this id. */
export class RunUnknown extends Refusal {
  override readonly name = 'RunUnknown';
}

/** The run has not been given its go-ahead. */
export class NoGoAhead extends Refusal {
  override readonly name = 'NoGoAhead';
}

/** The run could last longer than the caller would wait (R-BUDGET). */
export class BudgetExceedsTimeout extends Refusal {
  override readonly name = 'BudgetExceedsTimeout';
}

/** The waves of the deployment could last longer than CodeDeploy lets a deployment run (D8). */
export class DeploymentTooLong extends Refusal {
  override readonly name = 'DeploymentTooLong';
}

/** The fleet does not carry the opt-in tag (D19). */
export class NotOptedIn extends Refusal {
  override readonly name = 'NotOptedIn';
}

/** There is no such instance. */
export class InstanceUnknown extends Refusal {
  override readonly name = 'InstanceUnknown';
}

/** There is no such target group. */
export class TargetGroupUnknown extends Refusal {
  override readonly name = 'TargetGroupUnknown';
}

/** There is no such Auto Scaling group. */
export class AutoScalingGroupUnknown extends Refusal {
  override readonly name = 'AutoScalingGroupUnknown';
}

/** There is no such CodeDeploy deployment. */
export class DeploymentUnknown extends Refusal {
  override readonly name = 'DeploymentUnknown';
}

/** A goal was not met within the time that was computed for it. */
export class BudgetSpent extends Refusal {
  override readonly name = 'BudgetSpent';
}

/** Standby would take the group below its minimum size (D4). */
export class StandbyNotPossible extends Refusal {
  override readonly name = 'StandbyNotPossible';
}

/** EC2 did not accept the suppression. */
export class SuppressionRefused extends Refusal {
  override readonly name = 'SuppressionRefused';
}

/** There is no such application status check. */
export class CheckUnknown extends Refusal {
  override readonly name = 'CheckUnknown';
}

/** The check is included already, or is associated with something else: what it finds has consequences elsewhere. */
export class CheckInUse extends Refusal {
  override readonly name = 'CheckInUse';
}

/** Another adoption is at work on the group or on the check, or has still to be undone. */
export class AdoptionInProgress extends Refusal {
  override readonly name = 'AdoptionInProgress';
}

/** The adoption has ended, so nothing more may be done in its name (D5). */
export class AdoptionEnded extends Refusal {
  override readonly name = 'AdoptionEnded';
}

/** The security groups do not let the check in: it would find every instance impaired. */
export class IngressClosed extends Refusal {
  override readonly name = 'IngressClosed';
}

/** Somebody has deleted the check, included it, or excluded it again, while it was adopted. */
export class CheckChanged extends Refusal {
  override readonly name = 'CheckChanged';
}

/** EC2 reports nothing of some instances: the account's quota of targets is used up (D47). */
export class QuotaExceeded extends Refusal {
  override readonly name = 'QuotaExceeded';
}

/** The check was not passed often enough in a row by every instance. */
export class CheckNotProven extends Refusal {
  override readonly name = 'CheckNotProven';
}

/** After its promotion the check has done harm: it was excluded again. */
export class CheckDemoted extends Refusal {
  override readonly name = 'CheckDemoted';
}

/** The stack of Quiesce itself is being deleted: nothing begins any more. */
export class StackClosing extends Refusal {
  override readonly name = 'StackClosing';
}

/** A request of CloudFormation has been answered, so nothing more may be done in its name (D5). */
export class RequestAnswered extends Refusal {
  override readonly name = 'RequestAnswered';
}

/** Another execution retires this check, or these security groups. */
export class RetirementInProgress extends Refusal {
  override readonly name = 'RetirementInProgress';
}

/** The retirement has ended, so nothing more may be done in its name (D5). */
export class RetirementEnded extends Refusal {
  override readonly name = 'RetirementEnded';
}

/** Another check needs the same interface, so that it stays, and its security group with it (D45). */
export class InterfaceShared extends Refusal {
  override readonly name = 'InterfaceShared';
}

/** Interfaces that no check needs any more are still there at the limit of a retirement. */
export class InterfacesLinger extends Refusal {
  override readonly name = 'InterfacesLinger';
}

/** Something else holds a security group that was to be deleted, still at the limit of a retirement. */
export class GroupHeld extends Refusal {
  override readonly name = 'GroupHeld';
}

/** A hook's call does not come from the instance, or not from a lifecycle event that is in progress (D9). */
export class HookRefused extends Refusal {
  override readonly name = 'HookRefused';
}

/** S3 does not give a file of a log: it is gone, forbidden, or encrypted with a key that may not be used (R-LOG). */
export class LogUnreadable extends Refusal {
  override readonly name = 'LogUnreadable';
}

/** A file of a log is not what it says it is: no gzip, or not a whole one (R-LOG). */
export class LogDamaged extends Refusal {
  override readonly name = 'LogDamaged';
}

/** What the alarms should be changes faster than they can be changed (D21). */
export class AlarmsUnreconciled extends Refusal {
  override readonly name = 'AlarmsUnreconciled';
}

/** A read is not there yet: another run is just making it (D10), or AWS does not show it so soon (R-EVENTUAL). The machine comes again. */
export class ObservationPending extends QuiesceError {
  override readonly name = 'ObservationPending';
  readonly retryable = true;
}

/** One call to AWS did not succeed. */
abstract class CallFailed extends QuiesceError {
  /** The action as IAM writes it, `ec2:DescribeInstances`. */
  readonly action: string;
  /** AWS's own error code, or the name of the network's error. */
  readonly code: string;

  constructor(action: string, code: string, said: string, cause: unknown) {
    super(`${action} failed with ${code}: ${said}`, { cause });
    this.action = action;
    this.code = code;
  }
}

/** AWS asks for fewer calls, and still did after the client's own retries. */
export class Throttled extends CallFailed {
  override readonly name = 'Throttled';
  readonly retryable = true;
}

/** The service failed, could not be reached, or answered what cannot be read. The act may have taken effect: observe. */
export class Unavailable extends CallFailed {
  override readonly name = 'Unavailable';
  readonly retryable = true;
}

/** The role lacks the permission for `action`, or an organization's policy denies it. */
export class AccessDenied extends CallFailed {
  override readonly name = 'AccessDenied';
  readonly retryable = false;
}

/** AWS refused the call for the reason that `code` names. */
export class AwsFailure extends CallFailed {
  override readonly name = 'AwsFailure';
  readonly retryable = false;
}
