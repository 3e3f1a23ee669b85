// Tests run on the source; the leak guard is preloaded from the build, hence `npm test` builds first.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/fixtures/**', 'node_modules/**', 'dist/**'],
    // Never vmThreads: a vm realm has a Date and a Math of its own, which no guard can see.
    pool: 'forks',
    // Starts nothing by itself: a test that needs PostgreSQL starts the one that all share.
    globalSetup: ['test/support/postgres/setup.ts'],
    // The guard must be there before any module that might keep a reference to what it guards.
    execArgv: ['--import', new URL('./dist/sim/guard/preload.js', import.meta.url).href],
    testTimeout: 30_000,
    passWithNoTests: false,
  },
})
