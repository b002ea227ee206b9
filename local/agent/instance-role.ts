import type { Instance } from '../account/neighbours.ts';
import type { World } from '../account/world.ts';

/** The role of an instance profile. */
export interface InstanceRole {
  readonly name: string;
  /** `AROA...`: the first part of every `userId` of a session of this role. */
  readonly id: string;
}

/** The temporary credentials of one instance: a session of its role, named by the instance. */
export interface RoleSession {
  readonly instanceId: string;
  readonly role: InstanceRole;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** Gives every instance credentials of its own, and knows whose an access key is. */
export class RoleSessions {
  readonly #random;
  readonly #byInstance = new Map<string, RoleSession>();
  readonly #byAccessKey = new Map<string, RoleSession>();

  constructor(world: World) {
    this.#random = world.random.fork('instance-credentials');
  }

  of(instance: Instance, role: InstanceRole): RoleSession {
    const known = this.#byInstance.get(instance.id);
    if (known) return known;
    const session = {
      instanceId: instance.id,
      role,
      accessKeyId: `ASIA${this.#draw(16, 36).toUpperCase()}`,
      secretAccessKey: this.#draw(40, 36),
      sessionToken: `${this.#draw(120, 36)}==`,
    };
    this.#byInstance.set(instance.id, session);
    this.#byAccessKey.set(session.accessKeyId, session);
    return session;
  }

  byAccessKey(accessKeyId: string): RoleSession | undefined {
    return this.#byAccessKey.get(accessKeyId);
  }

  #draw(length: number, base: number): string {
    return Array.from({ length }, () => this.#random.whole(0, base - 1).toString(base)).join('');
  }
}
