import type { Instance } from '../account/neighbours.ts';
import type { World } from '../account/world.ts';
import type { RoleSession } from './instance-role.ts';
import { type Loopback, type LoopbackAnswer, type LoopbackRequest, serveLoopback } from './loopback.ts';
import { MetadataService } from './metadata-service.ts';
import type { ScriptProcess } from './script-process.ts';

/** What a script's `systemctl` does to the application of its instance. */
export interface ApplicationControl {
  stop(instance: Instance, deploymentId: string): void;
  start(instance: Instance, deploymentId: string): void;
}

export interface MachineSettings {
  readonly world: World;
  readonly instance: Instance;
  readonly session: RoleSession | undefined;
  readonly application: ApplicationControl;
}

/**
 * One simulated instance as the programs on it see it, on a port of its own: its metadata service, its application, and
 * for the shims (`shims/`) its clock and its service manager.
 */
export class Machine {
  readonly instance: Instance;
  /** The script that runs on it now, and the deployment that it runs for. */
  running: { readonly script: ScriptProcess; readonly deploymentId: string } | undefined;
  readonly #settings: MachineSettings;
  readonly #metadata: MetadataService;
  #loopback: Promise<Loopback> | undefined;

  constructor(settings: MachineSettings) {
    this.#settings = settings;
    this.instance = settings.instance;
    this.#metadata = new MetadataService(settings);
  }

  /** `http://127.0.0.1:<port>` */
  async url(): Promise<string> {
    const { clock } = this.#settings.world;
    this.#loopback ??= clock.hold(
      serveLoopback(
        request => this.#answer(request),
        error => clock.fail(error),
      ),
    );
    return (await this.#loopback).url;
  }

  async close(): Promise<void> {
    this.running?.script.lose();
    await this.running?.script.gone;
    await (await this.#loopback)?.close();
  }

  async #answer(request: LoopbackRequest): Promise<LoopbackAnswer> {
    const { clock } = this.#settings.world;
    const [, place, ...words] = request.target.split('/');
    switch (place) {
      case 'latest':
        return this.#metadata.answer(request);
      case 'time':
        return said(String(Math.floor(clock.now() / 1000)));
      case 'sleep':
        return this.waits(() => this.#sleep(Number(words[0])));
      case 'service':
        return this.waits(() => this.#service(words[0] ?? ''));
      case 'application':
        return this.waits(() => this.#application(Number(words[0]), `/${words.slice(1).join('/')}`));
      default:
        return { status: 404, body: `A simulated machine has no ${request.target}.\n` };
    }
  }

  /** What a script asks for; outside a script, somebody else's request. */
  async waits<T>(work: () => T | Promise<T>): Promise<T> {
    return this.running ? this.running.script.waits(work) : work();
  }

  async #sleep(seconds: number): Promise<LoopbackAnswer> {
    if (!(seconds >= 0)) return { status: 400, body: 'sleep: give a number of seconds\n' };
    await this.#settings.world.clock.sleep(seconds * 1000);
    return said('');
  }

  #service(verb: string): LoopbackAnswer {
    const { application } = this.#settings;
    const deploymentId = this.running?.deploymentId ?? '';
    switch (verb) {
      case 'stop':
        application.stop(this.instance, deploymentId);
        return said('');
      case 'start':
        application.start(this.instance, deploymentId);
        return said('');
      case 'is-active':
        return this.instance.application.isUp ? said('active\n') : { status: 503, body: 'inactive\n' };
      default:
        return { status: 400, body: `systemctl: the simulated one does not implement ${verb}\n` };
    }
  }

  #application(port: number, path: string): LoopbackAnswer {
    const answer = this.instance.application.answer({ port, path });
    if (answer.kind !== 'responds') return { status: 503, body: 'The application does not answer.\n' };
    return { status: answer.status, body: '' };
  }
}

const said = (body: string): LoopbackAnswer => ({ status: 200, body });
