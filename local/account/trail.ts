import type { Random } from '../clock/random.ts';
import type { Caller } from '../wire/contract.ts';
import type { EventDetail, ServiceEvent } from './neighbours.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

/**
 * CloudTrail, as far as EventBridge hears of it: an event a recorded call, some time later. INF: the request of an EC2 action
 * is written inside an object of the action's name, as of other actions of these years.
 */
export class Trail {
  readonly #world: World;
  readonly #random: Random;
  readonly #onEvent: (event: ServiceEvent) => void;

  constructor(world: World, onEvent: (event: ServiceEvent) => void) {
    this.#world = world;
    this.#random = world.random.fork('trail');
    this.#onEvent = onEvent;
  }

  /** @param caller nobody for a person who calls without the wire */
  record(action: string, input: object, caller: Caller | undefined, answer: EventDetail = {}): void {
    const { clock, physics, region } = this.#world;
    const detail: EventDetail = {
      eventVersion: '1.10',
      userIdentity: this.#identityOf(caller),
      eventTime: new Date(clock.now()).toISOString(),
      eventSource: 'ec2.amazonaws.com',
      eventName: action,
      awsRegion: region,
      eventID: uuid(this.#random),
      responseElements: answer,
      requestParameters: { [`${action}Request`]: JSON.parse(JSON.stringify(input)) },
      eventType: 'AwsApiCall',
    };
    const [least, most] = physics.trailSeconds;
    clock.after(this.#random.whole(least, most) * 1000, () =>
      this.#onEvent({
        source: 'aws.ec2',
        'detail-type': 'AWS API Call via CloudTrail',
        resources: [],
        detail,
      }),
    );
  }

  #identityOf(caller: Caller | undefined): EventDetail {
    const { partition, accountId } = this.#world;
    if (caller?.kind === 'service') return { type: 'AWSService', invokedBy: caller.name };
    if (caller && caller.kind !== 'operator')
      return {
        type: 'AssumedRole',
        arn: `arn:${partition}:sts::${accountId}:assumed-role/${caller.name}/${caller.name}`,
        accountId,
      };
    const name = caller?.name ?? 'somebody';
    return { type: 'IAMUser', arn: `arn:${partition}:iam::${accountId}:user/${name}`, accountId };
  }
}
