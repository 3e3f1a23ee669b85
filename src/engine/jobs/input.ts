import { InputInvalid } from '../errors.ts'
import type { JobDescription } from './definition.ts'
import { isThenable } from './thenable.ts'
import { toJson } from './json.ts'
import type { Payloads } from './payloads.ts'
import type { JobSpec } from './record.ts'
import { textOf } from './text.ts'

const inputBytesMax = 1_048_576

export interface StoredInput {
  readonly json: string
  readonly stored: string
}

/**
 * The input as it is stored: not transformed, and validated in the form in which a worker will find it, so
 * that nothing is accepted here to fail there. The size that counts is what is stored. At once where neither a codec
 * nor a schema has a say in it. Throws `InputInvalid`.
 */
export function storedInput(
  definition: JobDescription,
  input: unknown,
  payloads: Payloads,
): StoredInput | Promise<StoredInput> {
  const json = jsonOf(definition.name, input)
  const stored = payloads.stored(`the input of job ${definition.name}`, json)
  if (definition.input || stored instanceof Promise) return validInput(definition, json, stored)
  requireSize(definition, stored)
  return { json, stored }
}

async function validInput(
  definition: JobDescription,
  json: string,
  coded: string | Promise<string>,
): Promise<StoredInput> {
  const stored = await coded
  requireSize(definition, stored)
  if (definition.input) await validated(definition, JSON.parse(json))
  return { json, stored }
}

function requireSize(definition: JobDescription, stored: string): void {
  const sizeBytes = Buffer.byteLength(stored)
  if (sizeBytes > inputBytesMax) {
    throw new InputInvalid(
      `input of job ${definition.name} is ${sizeBytes} bytes, over the limit of ${inputBytesMax}; store the data elsewhere and pass a reference`,
    )
  }
}

/**
 * The input as the handler gets it: upgraded, then the schema's output. At once where nobody has a say in it, as in
 * most jobs. Throws `InputInvalid`, or what the upgrade throws.
 */
export function handlerInput(
  definition: JobDescription,
  stored: Pick<JobSpec, 'id' | 'input' | 'inputVersion'>,
  payloads: Payloads,
): unknown {
  if (!payloads.coded && !definition.input && !definition.upgradeInput) {
    return payloads.value('the input', stored.input)
  }
  return madeInput(definition, stored, payloads)
}

async function madeInput(
  definition: JobDescription,
  stored: Pick<JobSpec, 'id' | 'input' | 'inputVersion'>,
  payloads: Payloads,
): Promise<unknown> {
  let input = await payloads.value(`the input of job ${stored.id}`, stored.input)
  if (stored.inputVersion !== definition.settings.inputVersion && definition.upgradeInput) {
    input = await definition.upgradeInput(input, stored.inputVersion)
  }
  return validated(definition, input)
}

function jsonOf(name: string, input: unknown): string {
  try {
    return toJson(input) ?? 'null'
  } catch (error) {
    throw new InputInvalid(`input of job ${name} has no JSON form: ${textOf(error)}`, { cause: error })
  }
}

async function validated(definition: JobDescription, input: unknown): Promise<unknown> {
  if (!definition.input) return input
  let result = definition.input['~standard'].validate(input)
  if (isThenable(result)) result = await result
  if (!result.issues) return result.value
  const issues = result.issues.map(({ message, path }) => {
    const at = path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return at ? `${at}: ${message}` : message
  })
  throw new InputInvalid(`input of job ${definition.name}: ${issues.join('; ')}`)
}
