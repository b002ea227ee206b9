import { afterEach, expect, test } from 'vitest';
import * as clients from '../../functions/core/aws/clients.ts';

const seam = Symbol.for('quiesce.connection');
afterEach(() => Reflect.deleteProperty(globalThis, seam));

const connection = () => ({
  requestHandler: { handle: () => Promise.reject(new Error('not called')) },
  signer: { sign: () => Promise.reject(new Error('not called')) },
});
const all = Object.entries(clients);

test.each(all)(
  '%s is one client, over the connection in place, made anew when that is replaced',
  async (_name, client) => {
    const overNetwork = client();
    expect(client()).toBe(overNetwork);
    const first = connection();
    Reflect.set(globalThis, seam, first);
    const over = client();
    expect(over).not.toBe(overNetwork);
    expect(client()).toBe(over);
    expect(over.config.requestHandler).toBe(first.requestHandler);
    expect(await over.config.signer()).toBe(first.signer);
    Reflect.set(globalThis, seam, connection());
    expect(client()).not.toBe(over);
  },
);

test("R-THROTTLE: every client tries four times, with standard backoff, under the product's name", async () => {
  expect(all).toHaveLength(8);
  for (const [, client] of all) {
    const { config } = client();
    expect(await config.maxAttempts()).toBe(4);
    expect(await config.retryStrategy()).toMatchObject({ mode: 'standard' });
    expect(await config.userAgentAppId()).toBe('quiesce');
  }
});
