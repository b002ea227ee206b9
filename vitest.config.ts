import { defineConfig } from 'vitest/config';

/** Tests that start processes, listen on ports, open a browser or measure: they follow the wall clock, not the virtual one. */
const processes = [
  'test/browser/**',
  'test/cli/**',
  'test/hooks/{rolling,script,at-once}.test.ts',
  'test/bench.test.ts',
];

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
          exclude: processes,
          setupFiles: ['local/clock/lambda-globals.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: processes.map(path => path.replace('/**', '/**/*.test.ts')),
          setupFiles: ['local/clock/lambda-globals.ts'],
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['functions/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 95 },
    },
  },
});
