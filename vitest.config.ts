import { defineConfig } from 'vitest/config';

/** Tests that start processes, listen on ports, open a browser or measure: they follow the wall clock, not the virtual one. */
const processes = [
  'test/browser/*.test.ts',
  'test/cli/*.test.ts',
  'test/hooks/{rolling,script,at-once}.test.ts',
  'test/bench.test.ts',
  'test/{bundles,bundled-errors}.test.ts',
];
/** Tests that replace modules, and so need modules of their own. */
const mocked = ['test/unit/pace-of-the-machines.test.ts'];
const setupFiles = ['local/clock/lambda-globals.ts'];

export default defineConfig({
  test: {
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'virtual',
          include: ['test/**/*.test.ts'],
          exclude: [...processes, ...mocked],
          setupFiles,
          // One load of the SDK a worker, and code that stays warm: half the time. No test changes a module's state.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocked', include: mocked, setupFiles } },
      { extends: true, test: { name: 'processes', include: processes, setupFiles } },
    ],
    coverage: {
      provider: 'v8',
      include: ['functions/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 95 },
    },
  },
});
