// Reads the JUnit of our reports.
import { expect } from 'vitest'

export interface Case {
  readonly of: string
  readonly name: string
  readonly ends: string
  readonly text: string
}

const references: Readonly<Record<string, string>> = { '#38': '&', '#60': '<', '#62': '>', '#34': '"' }

/** Reads the little XML that the report is made of, and refuses all else. */
export function casesOf(xml: string): readonly Case[] {
  expect(xml).not.toMatch(outside)
  expect(xml.isWellFormed()).toBe(true)
  const value = (text: string): string => {
    expect(text).not.toMatch(/[<>"]|&(?!#\d+;)/)
    return text.replaceAll(/&(#\d+);/g, (_, name: string) => references[name] ?? `?${name}`)
  }
  const cases: Case[] = []
  const rest = xml.replaceAll(
    /<testcase classname="holdfast\.(\w+)" name="([^"]*)"(?:\/>|>(?:<(\w+) message="([^"]*)"(?:\/>|>([^<]*)<\/\3>))<\/testcase>)/g,
    (_, of: string, name: string, ends = 'passes', message = '', text = '') => {
      cases.push({ of, name: value(name), ends, text: `${value(message)}\n${value(text)}` })
      return ''
    },
  )
  expect(rest.replaceAll(/<\/?testsuites?(?: \w+="[^"<>]*")*>|<\?xml [^<>]*\?>/g, '').trim()).toBe('')
  return cases
}

/** What no document of XML 1.0 may have in it. */
// oxlint-disable-next-line no-control-regex -- they are what it is about
const outside = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
