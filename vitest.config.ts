import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['local/clock/lambda-globals.ts'],
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['functions/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 95 },
    },
  },
});
