import { AsyncLocalStorage } from 'node:async_hooks';
import nodeCrypto from 'node:crypto';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import sleeps from 'node:timers/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { currentInvocation } from '../wire/invocation.ts';
import type { Random } from './random.ts';
import type { Timer, VirtualClock } from './virtual-clock.ts';

/**
 * Makes a Lambda handler in this process live in virtual time.
 *
 * Inside an invocation (`runAs`) the date, timers, `Math.random` and `crypto.randomUUID` are the invocation's;
 * outside they are the real ones. Not covered: `performance.now`, `fetch` and dynamic `import()`.
 */
export function installLambdaGlobals(): void {
  if (installed) return;
  installed = true;
  installDate();
  installTimers();
  installSleep();
  installAbortSignalTimeout();
  installRandom();
  installFileReads();
  installGunzip();
  // Modules that imported these functions by name see the replacements as well.
  syncBuiltinESMExports();
}

let installed = false;

const currentClock = (): VirtualClock | undefined => currentInvocation()?.world.clock;

function installDate(): void {
  const realNow = Date.now;
  const RealDate = Date;
  RealDate.now = () => currentClock()?.now() ?? realNow();
  const LambdaDate = new Proxy(RealDate, {
    construct: (target, parts, newTarget) =>
      Reflect.construct(target, parts.length === 0 ? [RealDate.now()] : parts, newTarget),
    apply: () => new RealDate(RealDate.now()).toString(),
  });
  RealDate.prototype.constructor = LambdaDate;
  globalThis.Date = LambdaDate;
}

/** Stands in for Node's `Timeout`. A Lambda's timers never keep a process alive, so `ref` and `unref` change nothing. */
class LambdaTimeout {
  readonly #arm: () => Timer;
  #timer: Timer;

  constructor(arm: () => Timer) {
    this.#arm = arm;
    this.#timer = arm();
  }

  close(): this {
    this.#timer.cancel();
    return this;
  }

  refresh(): this {
    this.#timer.cancel();
    this.#timer = this.#arm();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }
}

/** Node's own rule: a delay that is not from 1 to 2^31 - 1 ms becomes 1 ms. */
const nodeDelay = (ms: number | undefined): number =>
  ms !== undefined && ms >= 1 && ms <= 2 ** 31 - 1 ? Math.trunc(ms) : 1;

function installTimers(): void {
  const real = { setTimeout, setInterval, clearTimeout, clearInterval };
  type Callback = (...args: unknown[]) => void;

  function lambdaSetTimeout(callback: Callback, ms?: number, ...args: unknown[]) {
    const clock = currentClock();
    if (!clock) return real.setTimeout(callback, ms, ...args);
    const fire = AsyncLocalStorage.bind(() => callback(...args));
    return new LambdaTimeout(() => clock.after(nodeDelay(ms), fire));
  }
  function lambdaSetInterval(callback: Callback, ms?: number, ...args: unknown[]) {
    const clock = currentClock();
    if (!clock) return real.setInterval(callback, ms, ...args);
    const fire = AsyncLocalStorage.bind(() => callback(...args));
    return new LambdaTimeout(() => clock.every(nodeDelay(ms), fire));
  }
  const clear = (timer?: LambdaTimeout | NodeJS.Timeout | string | number): void => {
    if (timer instanceof LambdaTimeout) timer.close();
    else real.clearTimeout(timer);
  };

  const replacements = {
    setTimeout: Object.assign(lambdaSetTimeout, { [promisify.custom]: sleep }),
    setInterval: lambdaSetInterval,
    clearTimeout: clear,
    clearInterval: clear,
  };
  Object.assign(globalThis, replacements);
  Object.assign(timers, replacements);
}

const realSleep = sleeps.setTimeout;

/** `setTimeout` of node:timers/promises. */
function sleep<T>(
  ms?: number,
  value?: T,
  options: { readonly signal?: AbortSignal } = {},
): Promise<T | undefined> {
  const clock = currentClock();
  if (!clock) return realSleep(ms, value, options);
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel();
      const error = new Error('The operation was aborted', { cause: signal?.reason });
      reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
    };
    const timer = clock.after(nodeDelay(ms), () => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

function installSleep(): void {
  Object.assign(sleeps, { setTimeout: sleep });
}

function installAbortSignalTimeout(): void {
  const real = AbortSignal.timeout;
  AbortSignal.timeout = ms => {
    const clock = currentClock();
    if (!clock) return real.call(AbortSignal, ms);
    const controller = new AbortController();
    clock.after(ms, () =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    );
    return controller.signal;
  };
}

function installRandom(): void {
  const realRandom = Math.random;
  Math.random = () => currentInvocation()?.random.next() ?? realRandom();

  const realUuid = nodeCrypto.randomUUID;
  const randomUUID: typeof realUuid = options => {
    const invocation = currentInvocation();
    return invocation ? uuidFrom(invocation.random) : realUuid(options);
  };
  Object.assign(nodeCrypto, { randomUUID });
  Object.assign(globalThis.crypto, { randomUUID });
}

/** A version 4 UUID, as `crypto.randomUUID` gives them. */
function uuidFrom(random: Random): ReturnType<typeof nodeCrypto.randomUUID> {
  const digits = (count: number) =>
    Array.from({ length: count }, () => random.whole(0, 15).toString(16)).join('');
  const variant = random.whole(8, 11).toString(16);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(12)}`;
}

/** The SDK reads its configuration files during a client's first call: time has to stand still meanwhile. */
function installFileReads(): void {
  const real = files.readFile;
  const readFile = (...args: Parameters<typeof real>) =>
    currentClock()?.hold(() => real(...args)) ?? real(...args);
  Object.assign(files, { readFile });
}

/** Where a replacement keeps what it replaces: a stream takes ten listeners, and vitest loads this file again for each of its own. */
const REPLACED = Symbol.for('quiesce.replaced');

/** Decompression runs on threads of its own: time has to stand still until such a stream is over. */
function installGunzip(): void {
  const real: typeof zlib.createGunzip = Reflect.get(zlib.createGunzip, REPLACED) ?? zlib.createGunzip;
  const createGunzip: typeof real = options => {
    const gunzip = real(options);
    void currentClock()?.hold(() => new Promise(over => gunzip.once('close', over)));
    return gunzip;
  };
  Object.defineProperty(zlib, 'createGunzip', { value: Object.assign(createGunzip, { [REPLACED]: real }) });
}

// On import, so that a bare import placed first precedes every module that keeps one of these functions.
installLambdaGlobals();
