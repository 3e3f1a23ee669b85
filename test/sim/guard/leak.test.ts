import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import vm from 'node:vm'
import { afterEach, expect, test, vi } from 'vitest'
import { describeLeak, unknownSite } from '../../../src/sim/guard/leak.ts'
import { lineAt } from './leaks.ts'

const limit = Error.stackTraceLimit
const formatter: unknown = Reflect.get(Error, 'prepareStackTrace')
afterEach(() => {
  Error.stackTraceLimit = limit
  Reflect.set(Error, 'prepareStackTrace', formatter)
})

function source(): ReturnType<typeof describeLeak> {
  return describeLeak('a source', source)
}

/** `source`, called from a file of that name. */
function calledFrom(filename: string): ReturnType<typeof describeLeak> {
  const call = vm.runInThisContext('(f) => f()', { filename }) as (
    f: typeof source,
  ) => ReturnType<typeof source>
  return call(source)
}

test('names the line that called, and keeps the frames around it', () => {
  const leak = source() // called here
  expect(leak?.what).toBe('a source')
  expect(lineAt(leak?.site ?? '')).toContain('// called here')
  expect(leak?.stack.split('\n')[0]).toBe('a source')
  expect(leak?.stack.split('\n')[1]).toContain('leak.test.ts')
  expect(leak?.stack).not.toContain('describeLeak')
})

test.each([
  ['/opt/app/jobs.js', '/opt/app/jobs.js:1:8'],
  ['/opt/my app (copy)/jobs.js', '/opt/my app (copy)/jobs.js:1:8'],
  ['file:///opt/my%20app/jobs.js', '/opt/my app/jobs.js:1:8'],
  ['file:///opt/app/jobs.js?v=17', '/opt/app/jobs.js:1:8'],
  ['file:///opt/node_modules/uuid/v4.js', '/opt/node_modules/uuid/v4.js:1:8'],
  ['webpack-internal:///jobs.js', 'webpack-internal:///jobs.js:1:8'],
])('%s is shown as %s', (filename, site) => {
  expect(calledFrom(filename)?.site).toBe(site)
})

test.each([
  'node:internal/timers',
  '/app/node_modules/vitest/dist/a.js',
  '/app/node_modules/.pnpm/@vitest+spy@4/node_modules/@vitest/spy/dist/a.js',
  'file:///app/node_modules/tinypool/dist/a.js',
  'file:///C:/app/node_modules/vite-node/dist/a.js',
])('passes over %s to who called it', (filename) => {
  expect(lineAt(calledFrom(filename)?.site ?? '')).toContain('return call(source)')
})

test('of code made by eval, names who called eval', () => {
  // oxlint-disable-next-line no-eval -- that is what this test is about
  const site = (0, eval)('(f) => f()')(source)?.site
  expect(lineAt(site ?? '')).toContain('(0, eval)')
})

test('finds the line when nobody wants stacks, or wants them as objects', () => {
  Error.stackTraceLimit = 0
  expect(lineAt(source()?.site ?? '')).toContain('source()?.site')
  expect(Error.stackTraceLimit).toBe(0)
  const frames = (_: Error, sites: NodeJS.CallSite[]): NodeJS.CallSite[] => sites
  Error.prepareStackTrace = frames
  expect(source()?.site).toContain('leak.test.ts')
  expect(Reflect.get(Error, 'prepareStackTrace')).toBe(frames)
})

test('says so when no line called', async () => {
  const found: ReturnType<typeof source>[] = []
  void Promise.resolve()
    .then(source)
    .then((leak) => found.push(leak))
  await vi.waitFor(() => expect(found).toHaveLength(1))
  expect(found[0]?.site).toBe(unknownSite)
})

test('what a runner does with printed text is no leak', () => {
  const written: ReturnType<typeof source>[] = []
  const stdout = new Writable()
  const write = '(source, written) => () => written.push(source()) > 0'
  stdout.write = vm.runInThisContext(write, { filename: '/app/node_modules/vitest/dist/console.js' })(
    source,
    written,
  )
  new Console({ stdout }).log('a line')
  expect(written).toEqual([null])
})

test('what is run in order to print may be a leak', () => {
  const inspected: ReturnType<typeof source>[] = []
  const value = { [inspect.custom]: () => `${inspected.push(source())}` }
  new Console({ stdout: new Writable({ write: (_chunk, _encoding, done) => done() }) }).log(value)
  expect(lineAt(inspected[0]?.site ?? '')).toContain('inspect.custom')
})
