import { InputInvalid } from '../errors.ts'
import type { JobDescription } from './definition.ts'
import { toJson } from './json.ts'

const inputBytesMax = 1_048_576

/** The input as it is stored: validated, but not transformed. Throws `InputInvalid`. */
export async function storedInput(definition: JobDescription, input: unknown): Promise<string> {
  await validated(definition, input)
  const text = jsonOf(definition.name, input)
  const sizeBytes = Buffer.byteLength(text)
  if (sizeBytes > inputBytesMax) {
    throw new InputInvalid(
      `input of job ${definition.name} is ${sizeBytes} bytes, over the limit of ${inputBytesMax}; store the data elsewhere and pass a reference`,
    )
  }
  return text
}

/** The input as the handler gets it: upgraded, then the schema's output. Throws `InputInvalid`. */
export async function handlerInput(
  definition: JobDescription,
  stored: { readonly input: string; readonly inputVersion: number },
): Promise<unknown> {
  let input: unknown = JSON.parse(stored.input)
  if (stored.inputVersion !== definition.settings.inputVersion && definition.upgradeInput) {
    input = definition.upgradeInput(input, stored.inputVersion)
  }
  return validated(definition, input)
}

function jsonOf(name: string, input: unknown): string {
  try {
    return toJson(input) ?? 'null'
  } catch (error) {
    throw new InputInvalid(`input of job ${name} has no JSON form: ${String(error)}`, { cause: error })
  }
}

async function validated(definition: JobDescription, input: unknown): Promise<unknown> {
  if (!definition.input) return input
  let result = definition.input['~standard'].validate(input)
  if (result instanceof Promise) result = await result
  if (!result.issues) return result.value
  const issues = result.issues.map(({ message, path }) => {
    const at = path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return at ? `${at}: ${message}` : message
  })
  throw new InputInvalid(`input of job ${definition.name}: ${issues.join('; ')}`)
}
