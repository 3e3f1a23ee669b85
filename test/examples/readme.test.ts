// The programs in the README run as they stand; only the file that one of them would leave behind lies elsewhere.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { transform } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-readme-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const readme = readFileSync('README.md', 'utf8')
/** What imports nothing is a fragment. */
const programs = [...readme.matchAll(/```ts\n([^]*?)```/g)].flatMap(([, text = '']) => {
  return text.startsWith('import ') ? [text] : []
})

/** From the root of the package, where its own name is an import like any other. */
async function run(program: string): Promise<{ code: number | null; output: string }> {
  const text = program.replace("'jobs.db'", JSON.stringify(path.join(directory, 'jobs.db')))
  const { code } = await transform(text, { loader: 'ts' })
  const ran = spawn(process.execPath, ['--input-type=module', '--eval', code])
  let output = ''
  for (const stream of [ran.stdout, ran.stderr]) stream.on('data', (part) => (output += String(part)))
  const [exit] = (await once(ran, 'close')) as [number | null]
  return { code: exit, output }
}

describe('the README', () => {
  it('has a program that runs a job to its end', async () => {
    const { code, output } = await run(String(programs[0]))
    expect(output).toContain("state: 'succeeded'")
    expect(output).toContain('{"resized":"https://example.org/a.png","attempt":1,"aborted":false}')
    expect(code).toBe(0)
  })

  it('has one that makes a database', async () => {
    expect(programs).toHaveLength(2)
    expect(await run(String(programs[1]))).toEqual({ code: 0, output: '' })
  })
})
