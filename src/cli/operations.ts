import type { Command } from 'commander'
import { type DeadLettersOptions, deadLetters } from './commands/dead-letters.ts'
import { type JobsOptions, jobs } from './commands/jobs.ts'
import { type LogsOptions, logs } from './commands/logs.ts'
import {
  type OperateOptions,
  type ResumeOptions,
  type VersionOptions,
  cancel,
  hold,
  pause,
  resume,
  retry,
  unpause,
} from './commands/operate.ts'
import { type ReplayDeadOptions, discardDead, replayDead } from './commands/replay-dead.ts'
import {
  type SchedulesOptions,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  schedules,
} from './commands/schedules.ts'
import { refuseOptions, repeated, wholeNumber } from './options.ts'

const pageMax = 1_000

/** A command on a production database. */
export function production(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(
      '--database-url <url>',
      'PostgreSQL, as postgres://user@host:5432/database (default: DATABASE_URL)',
    )
    .option('--file <file>', 'SQLite')
    .option('--schema <name>', 'the schema of the tables (default holdfast; PostgreSQL)')
}

/** One that prints text for people, or one JSON object. */
function operation(parent: Command, name: string, description: string): Command {
  return production(parent, name, description).option('--json', 'print one JSON object and nothing else')
}

/** What an operator looks at and does, in a word each. */
export function addOperations(program: Command): void {
  addJobs(program)
  addDeadLetters(program)
  addSchedules(program)
  addSwitches(program)
}

function addJobs(program: Command): void {
  filtered(operation(program, 'jobs', 'list jobs, the newest first; with an id: show one'))
    .argument('[job]', 'its id')
    .option('--state <state>', 'queued, running, succeeded, failed or cancelled; may be repeated', repeated)
    .option('--tenant <tenant>', 'only those of this tenant')
    .option('--key <dimension=value>', 'only those with this key; repeated: with all of them', repeated)
    .option('--counts', 'how many wait, run and are dead letters, by queue')
    .action(async (id: string | undefined, options: JobsOptions) => {
      process.exitCode = await jobs(id, options)
    })

  production(program, 'logs', 'print what a job has said')
    .argument('<job>', 'its id')
    .option('--tail <n>', 'only the last lines, so many', wholeNumber('--tail', 1, pageMax))
    .option('--follow', 'go on until the job has ended; stop it with ^C')
    .option('--json', 'print one JSON object and nothing else; with --follow one for each line')
    .action(async (id: string, options: LogsOptions) => {
      process.exitCode = await logs(id, options)
    })

  operation(program, 'cancel', 'ask for the end of a job')
    .argument('<job>', 'its id')
    .action(async (id: string, options: OperateOptions) => {
      process.exitCode = await cancel(id, options)
    })

  operation(program, 'retry', 'start a failed or cancelled job anew, under its id')
    .argument('<job>', 'its id')
    .option('--job-version <n>', 'only if it is at this version', wholeNumber('--job-version', 1))
    .action(async (id: string, options: VersionOptions) => {
      process.exitCode = await retry(id, options)
    })
}

function addDeadLetters(program: Command): void {
  const letters = filtered(
    operation(program, 'dead-letters', 'list dead letters, the longest dead first; with an id: show one'),
  )
    .enablePositionalOptions()
    .argument('[job]', 'its id')
    .action(async (id: string | undefined, options: DeadLettersOptions) => {
      process.exitCode = await deadLetters(id, options)
    })

  operation(letters, 'replay', 'make new jobs of dead letters; safe to repeat')
    .argument('[jobs...]', 'their ids')
    .option('--all', 'all that died before it began; 1 if some are left')
    .option('--kind <kind>', 'with --all: only this kind; may be repeated', repeated)
    .option('--queue <queue>', 'with --all: only of this queue; may be repeated', repeated)
    .option('--limit <n>', 'with --all: so many at most', wholeNumber('--limit', 1))
    // What is said before the name of a subcommand holds for it as well.
    .action(async (ids: readonly string[], _own, command: Command) => {
      process.exitCode = await replayDead(ids, command.optsWithGlobals<ReplayDeadOptions>())
    })

  operation(letters, 'discard', 'let nobody replay them: they stay failed jobs')
    .argument('<jobs...>', 'their ids')
    .action(async (ids: readonly string[], _own, command: Command) => {
      process.exitCode = await discardDead(ids, command.optsWithGlobals<DeadLettersOptions>())
    })
}

/** The filters and the paging of a list. */
function filtered(command: Command): Command {
  return paged(
    command
      .option('--kind <kind>', 'only this kind; may be repeated', repeated)
      .option('--queue <queue>', 'only of this queue; may be repeated', repeated),
  )
}

function paged(command: Command): Command {
  return command
    .option('--limit <n>', `so many on a page, ${pageMax} at most`, wholeNumber('--limit', 1, pageMax))
    .option('--cursor <cursor>', 'go on where a page ended: its `next`')
}

function addSchedules(program: Command): void {
  const all = paged(operation(program, 'schedules', 'list schedules, by key; with a key: show one'))
    .enablePositionalOptions()
    .argument('[schedule]', 'its key')
    .option('--slots <n>', 'of one: so many of those to come (default 5)', wholeNumber('--slots', 1, pageMax))
    .action(async (key: string | undefined, options: SchedulesOptions) => {
      process.exitCode = await schedules(key, options)
    })

  for (const [name, says, act] of [
    ['pause', 'let it make no job until `resume`', pauseSchedule],
    ['resume', 'let it go on with the next slot to come', resumeSchedule],
    ['remove', 'end it; the jobs that it has made stay', removeSchedule],
  ] as const) {
    operation(all, name, says)
      .argument('<schedule>', 'its key')
      .action(async (key: string, _own, command: Command) => {
        const options = command.optsWithGlobals<SchedulesOptions>()
        refuseOptions(options, ['limit', 'cursor', 'slots'], `to ${name} one`)
        process.exitCode = await act(key, options)
      })
  }
}

function addSwitches(program: Command): void {
  operation(program, 'hold', 'let no worker claim anything until `resume`').action(
    async (options: OperateOptions) => {
      process.exitCode = await hold(options)
    },
  )
  operation(program, 'resume', 'let workers claim again after `hold`')
    .option(
      '--restored',
      'the database was restored from a backup: let nothing from before it write any more',
    )
    .action(async (options: ResumeOptions) => {
      process.exitCode = await resume(options)
    })

  for (const [name, says, act] of [
    ['pause', 'let no worker claim anything of a queue until `unpause`', pause],
    ['unpause', 'let workers claim of a queue again', unpause],
  ] as const) {
    operation(program, name, says)
      .argument('<queue>', 'its name')
      .action(async (queue: string, options: OperateOptions) => {
        process.exitCode = await act(queue, options)
      })
  }
}
