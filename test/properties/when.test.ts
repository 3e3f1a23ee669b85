import { expect, test } from 'vitest'
import { instant, span } from '../../src/properties/model/when.ts'

test('an instant looks as it does in a trace, a span is in seconds', () => {
  expect([instant(108_320), instant(0), instant(-5)]).toEqual(['+108.320s', '+0.000s', '-0.005s'])
  expect([span(30_000), span(645), span(27_948.4)]).toEqual(['30 s', '0.645 s', '27.948 s'])
})
