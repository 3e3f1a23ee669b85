#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { HoldfastError } from '../engine/errors.ts'
import { inert } from '../report/format.ts'
import { about } from './about.ts'
import { type ExploreOptions, explore } from './commands/explore.ts'
import { type MigrateOptions, migrate } from './commands/migrate.ts'
import { type ReplayOptions, replay } from './commands/replay.ts'
import { type ReportOptions, report } from './commands/report.ts'
import { type SimulateOptions, simulate } from './commands/simulate.ts'
import { type WorkerOptions, worker } from './commands/worker.ts'
import { addOperations, production } from './operations.ts'
import { list, minutes, repeated, shard, wholeNumber } from './options.ts'

const usageError = 2
const silentMs = 10_000
const storeSays = 'the store under the engine: memory, sqlite, pglite or postgres'
const urlSays = "a PostgreSQL database for --store postgres (default: the environment's DATABASE_URL)"
const silentSays = 'a run that shows no sign of life for so long is killed'

/** Something of a user's may keep this process going when all is done. */
let userCode = false

const program = new Command('holdfast')
  .description('A durable job engine, and the deterministic simulation that tries to break it.')
  .version(about().version)
  .exitOverride()

program
  .command('simulate')
  .description('run seeded fault simulations of the engine and check its invariants')
  .argument('[file]', 'a module whose default export is a scenario or a bench, or a list of them')
  .option('--seed <seed>', 'one seed, decimal or 0x hexadecimal, up to 2^64 - 1')
  .option('--seeds <n>', 'so many seeds, counted from --first-seed', wholeNumber('--seeds', 0))
  .option('--minutes <m>', 'seeds for so long (default 1)', minutes)
  .option('--first-seed <seed>', 'the first seed (default 1)')
  .option('--shard <i/n>', 'the i-th of n equal parts of the seeds, each a row of them', shard)
  .option('--scenario <name>', 'this scenario for all seeds; by default the seed chooses')
  .option('--store <name>', storeSays, 'memory')
  .option('--database-url <url>', urlSays)
  .option('--faults <a,b>', 'only these fault families', list)
  .option('--threads <n>', 'simulation threads (default: one a core)', wholeNumber('--threads', 1))
  .option('--verify', 'run every seed twice and compare')
  .option('--silent-ms <ms>', silentSays, wholeNumber('--silent-ms', 100), silentMs)
  .option(
    '--shrink-seconds <s>',
    'how long to look for the least that fails, of each kind of failure (0: not at all)',
    wholeNumber('--shrink-seconds', 0),
    20,
  )
  .option('--report <dir>', 'where reports and replay files go', 'reports')
  .option('--json', 'print one JSON object and nothing else')
  .action(async (file: string | undefined, options: SimulateOptions) => {
    process.exitCode = await simulate(file, options)
  })

program
  .command('explore')
  .description(
    'walk all schedules of small systems, to so many deviations from the default, and check invariants',
  )
  .argument('[file]', 'a module whose default export is a topology, or a list with some among it')
  .option('--scenario <name>', 'this topology alone (default: all)')
  .option(
    '--deviations <k>',
    'deviations from the default schedule (default: each its own)',
    wholeNumber('--deviations', 0),
  )
  .option('--quick', 'no more deviations than take seconds, for each topology')
  .option('--workers <n>', 'so many workers, in place of what the topology says', wholeNumber('--workers', 1))
  .option('--jobs <n>', 'so many jobs, in place of what the topology says', wholeNumber('--jobs', 1))
  .option('--seconds <s>', 'begin no schedule after so long, for each topology', wholeNumber('--seconds', 1))
  .option('--states <n>', 'room for so many distinct states (default 8,388,608)', wholeNumber('--states', 1))
  .option('--threads <n>', 'threads (default: one a core)', wholeNumber('--threads', 1))
  .option('--silent-ms <ms>', silentSays, wholeNumber('--silent-ms', 100), silentMs)
  .option('--report <dir>', 'where the report and replay files go', 'reports')
  .option('--json', 'print one JSON object and nothing else')
  .action(async (file: string | undefined, options: ExploreOptions) => {
    process.exitCode = await explore(file, options)
  })

program
  .command('replay')
  .description('run one seed, or a replay file of a failure, again')
  .argument('<seed|file>', 'a seed, or a replay file that simulate or explore wrote')
  .option('--scenario <name>', 'the scenario of the seed; by default the seed chooses')
  .option('--store <name>', storeSays, 'memory')
  .option('--database-url <url>', urlSays)
  .option('--module <file>', 'the module that defines the scenario, for a seed')
  .option('--faults <a,b>', 'only these fault families, for a seed', list)
  .option('--verify', 'run a seed twice and compare')
  .option('--silent-ms <ms>', silentSays, wholeNumber('--silent-ms', 100), silentMs)
  .option('--trace', 'print every event')
  .option(
    '--until <n>',
    'stop after the n-th event, and show how everything stands',
    wholeNumber('--until', 1),
  )
  .option('--json', 'print one JSON object and nothing else')
  .action(async (target: string, options: ReplayOptions) => {
    process.exitCode = await replay(target, options)
  })

program
  .command('report')
  .description('print what the last simulate and explore found, and open their pages')
  .argument('[dir]', 'where they wrote their reports', 'reports')
  .option('--open', 'open the HTML reports in a browser')
  .action(async (directory: string, options: ReportOptions) => {
    process.exitCode = await report(directory, options)
  })

program
  .command('migrate')
  .description('create or upgrade the tables of a production database; safe to repeat')
  .option('--database-url <url>', 'PostgreSQL, as postgres://user@host:5432/database (default: DATABASE_URL)')
  .option('--file <file>', 'SQLite')
  .option('--schema <name>', 'the schema of the tables (default holdfast; PostgreSQL)')
  .option('--runtime-role <role>', 'a role that may work with the tables, not change them (PostgreSQL)')
  .option('--sql', 'print the SQL for PostgreSQL, and touch nothing')
  .action(async (options: MigrateOptions) => {
    process.exitCode = await migrate(options)
  })

production(program, 'worker', 'work on the jobs of a module until SIGTERM')
  .argument('<module>', 'a module whose default export is a list of jobs, or { jobs, queues, ... }')
  .option('--queue <name=n>', 'work on this queue, n jobs at a time; may be repeated', repeated)
  .option('--name <name>', 'what this worker is called (default: the host name)')
  .option(
    '--once <job>',
    'work on this one job, once, and end: 0 it succeeded, 1 it did not, 3 not to be had',
  )
  .option(
    '--wait-seconds <s>',
    'with --once: how long to wait for the job',
    wholeNumber('--wait-seconds', 0),
    30,
  )
  .option('--drain-seconds <s>', 'how long running jobs may go on', wholeNumber('--drain-seconds', 0), 30)
  .action(async (module: string, options: WorkerOptions) => {
    // A handler may end the process by itself, or keep it from ending: the code says what became of the work.
    const unfinished = (): void => void (process.exitCode = 1)
    process.once('exit', unfinished)
    userCode = true
    try {
      process.exitCode = await worker(module, options)
    } finally {
      process.off('exit', unfinished)
    }
  })

addOperations(program)

// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : usageError
  else if (error instanceof HoldfastError) {
    process.stderr.write(`error: ${error.message.split('\n').map(inert).join('\n')}\n`)
    process.exitCode = usageError
  } else throw error
}
if (userCode) process.exit()
