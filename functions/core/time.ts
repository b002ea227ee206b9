/** Now, in whole seconds since the epoch. The only clock that handlers read; `domain/` is given its times. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

export const toSeconds = (date: Date): number => date.getTime() / 1000;
