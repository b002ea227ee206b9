import type { Instance } from '../account/neighbours.ts';
import type { World } from '../account/world.ts';
import type { RoleSession } from './instance-role.ts';
import type { LoopbackAnswer, LoopbackRequest } from './loopback.ts';

/** The guide: credentials of a role last about six hours; a token of the service at most as long. */
const CREDENTIALS_MS = 21_600_000;
const LONGEST_TOKEN_SECONDS = 21_600;

export interface MetadataSettings {
  readonly world: World;
  readonly instance: Instance;
  /** Undefined for an instance without an instance profile. */
  readonly session: RoleSession | undefined;
}

/** The instance metadata service of one instance, version 2 only: what a hook script needs of it. */
export class MetadataService {
  readonly #settings: MetadataSettings;
  readonly #tokens = new Map<string, number>();
  readonly #random;

  constructor(settings: MetadataSettings) {
    this.#settings = settings;
    this.#random = settings.world.random.fork(`metadata-${settings.instance.id}`);
  }

  answer({ method, target, headers }: LoopbackRequest): LoopbackAnswer {
    if (target === '/latest/api/token')
      return this.#token(method, headers['x-aws-ec2-metadata-token-ttl-seconds']);
    const now = this.#settings.world.clock.now();
    const expiry = this.#tokens.get(headers['x-aws-ec2-metadata-token'] ?? '');
    if (expiry === undefined || expiry <= now) return { status: 401, body: 'Unauthorized' };
    const value = this.#value(target.replace('/latest/', ''));
    return value === undefined ? { status: 404, body: 'Not Found' } : { status: 200, body: value };
  }

  #token(method: string, ttl: string | undefined): LoopbackAnswer {
    const seconds = Number(ttl);
    if (method !== 'PUT') return { status: 405, body: 'Method Not Allowed' };
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > LONGEST_TOKEN_SECONDS)
      return { status: 400, body: 'Bad Request' };
    const token = Array.from({ length: 55 }, () => this.#random.whole(0, 35).toString(36)).join('');
    this.#tokens.set(token, this.#settings.world.clock.now() + seconds * 1000);
    return { status: 200, body: token };
  }

  #value(path: string): string | undefined {
    const { instance, session, world } = this.#settings;
    switch (path) {
      case 'meta-data/instance-id':
        return instance.id;
      case 'meta-data/placement/region':
        return world.region;
      case 'meta-data/placement/availability-zone':
        return instance.zone;
      case 'meta-data/local-ipv4':
        return instance.privateAddresses[0];
      case 'meta-data/iam/security-credentials/':
        return session?.role.name;
      case `meta-data/iam/security-credentials/${session?.role.name}`:
        return session && this.#credentials(session);
      default:
        return undefined;
    }
  }

  /** One member a line, as the service writes it. */
  #credentials({ accessKeyId, secretAccessKey, sessionToken }: RoleSession): string {
    const now = this.#settings.world.clock.now();
    const second = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    const members = {
      Code: 'Success',
      LastUpdated: second(now),
      Type: 'AWS-HMAC',
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: second(now + CREDENTIALS_MS),
    };
    const lines = Object.entries(members).map(([name, value]) => `  "${name}" : "${value}"`);
    return `{\n${lines.join(',\n')}\n}`;
  }
}
