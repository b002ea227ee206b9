import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import { z } from 'zod';

const Manifest = z.object({ version: z.string() });

/** A client reads its own version from its package.json, for the User-Agent: the rest of that file (2 KB a client) stays out. */
export const clientVersion: Plugin = {
  name: 'client-version',
  setup(build) {
    build.onLoad({ filter: /[\\/]@aws-sdk[\\/]client-[^\\/]+[\\/]package\.json$/ }, async ({ path }) => ({
      contents: JSON.stringify(Manifest.parse(JSON.parse(await readFile(path, 'utf8')))),
      loader: 'json',
    }));
  },
};
