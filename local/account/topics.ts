import type { Random } from '../clock/random.ts';
import { ServiceError } from '../wire/contract.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

/** What subscribers of a topic are sent. */
export interface Notification {
  readonly at: number;
  readonly topicArn: string;
  readonly subject: string;
  readonly message: string;
}

/** Of Publish's members, as the SDK's PublishInput spells them. */
export interface PublishInput {
  readonly TopicArn: string;
  readonly Subject: string;
  readonly Message: string;
}

/** SNS's API reference: up to 100 printable ASCII characters in one line, begun by a letter, a number or punctuation. */
const SUBJECT = /^[!-~][ -~]{0,99}$/;
const LONGEST_MESSAGE = 262_144;

/** The account's SNS topics, of which the simulated account needs no more than what was published: any ARN is a topic. */
export class Topics {
  readonly published: Notification[] = [];
  readonly #world: World;
  readonly #random: Random;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random.fork('topics');
  }

  /** @throws ServiceError InvalidParameter on a subject or message that SNS does not take */
  publish({ TopicArn, Subject, Message }: PublishInput): { readonly MessageId: string } {
    if (!SUBJECT.test(Subject)) throw new ServiceError('InvalidParameter', 'Invalid parameter: Subject');
    if (Message === '' || Buffer.byteLength(Message) > LONGEST_MESSAGE)
      throw new ServiceError('InvalidParameter', 'Invalid parameter: Message');
    const { clock, journal } = this.#world;
    const at = clock.now();
    journal.record({ type: 'told', subject: Subject });
    this.published.push({ at, topicArn: TopicArn, subject: Subject, message: Message });
    return { MessageId: uuid(this.#random) };
  }
}
