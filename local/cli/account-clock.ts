import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';

/**
 * From here on `Date` keeps the account's time, as each answer of AWS tells it by its header: a laptop's clock may be wrong, and
 * a served account begins when it likes and may run faster. The SDK signs with the same `Date`, and so sees no skew to correct.
 */
export function keepAccountTime(): void {
  const own = Date.now;
  let aheadMs = 0;
  Date.now = () => own() + aheadMs;
  subscribe('http.client.response.finish', message => {
    const response: unknown = Reflect.get(Object(message), 'response');
    const date = response instanceof IncomingMessage ? Date.parse(response.headers.date ?? '') : Number.NaN;
    // The header has whole seconds. At the end of its own nothing that the answer tells is still to come.
    if (!Number.isNaN(date)) aheadMs = date + 999 - own();
  });
}
