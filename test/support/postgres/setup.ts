// Global set-up of the tests: a place for the server that they share. Only a test that needs it starts it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { removeForgotten } from './server.ts'
import { placeName, stopShared } from './shared.ts'

export function setup(): () => Promise<void> {
  const place = mkdtempSync(path.join(tmpdir(), 'holdfast-tests-'))
  process.env[placeName] = place
  return async () => {
    const started = path.join(place, 'started.json')
    await removeForgotten(place)
    if (existsSync(started)) await stopShared(readFileSync(started, 'utf8'))
    rmSync(place, { recursive: true, force: true })
  }
}
