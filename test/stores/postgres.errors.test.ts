// What each failure of `pg` means to a caller: by its SQLSTATE where the server spoke, by code and message where not.
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { spoils, typed } from '../../src/stores/postgres/errors.ts'

function serverError(code: string, message = 'in whatever language'): Error {
  const error = new pg.DatabaseError(message, 0, 'error')
  return Object.assign(error, { code, severity: 'FATAL' })
}

function driverError(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code })
}

describe('what the server said', () => {
  const [no, maybe] = [{ sent: 'no' }, { sent: 'maybe' }]
  test.each([
    ['57P01', 'starting or stopping', maybe, true],
    ['57P02', 'starting or stopping', maybe, true],
    ['57P03', 'starting or stopping', maybe, true],
    ['57P05', 'connection', maybe, true],
    ['25P03', 'connection', maybe, true],
    ['08000', 'connection', maybe, true],
    ['08003', 'connection', maybe, true],
    ['08006', 'connection', maybe, true],
    ['57014', 'timeout', no, false],
    ['55P03', 'timeout', no, false],
    ['40001', 'conflict', no, false],
    ['40P01', 'conflict', no, false],
    ['53100', 'resources', no, false],
    ['53200', 'resources', no, false],
    ['53300', 'resources', no, false],
    ['58030', 'resources', no, false],
    ['25006', 'read-only', no, true],
  ] as const)('%s is an outage (%s), %j', (code, reason, known, spoiling) => {
    const error = serverError(code)
    expect(typed(error, 'maybe')).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      reason,
      sqlState: code,
      ...known,
    })
    // Nothing was sent on a connection that did not come about.
    expect(typed(error, 'no')).toMatchObject({ sent: 'no' })
    expect(spoils(error)).toBe(spoiling)
  })

  test.each([
    ['08P01', 'STORE_REFUSED'],
    ['28000', 'STORE_REFUSED'],
    ['28P01', 'STORE_REFUSED'],
    ['3D000', 'STORE_REFUSED'],
    ['42501', 'STORE_REFUSED'],
    ['42P05', 'STORE_REFUSED'],
    ['26000', 'STORE_REFUSED'],
    ['42P01', 'STORE_SCHEMA'],
    ['3F000', 'STORE_SCHEMA'],
    ['42703', 'STORE_SCHEMA'],
    ['22021', 'INVALID_ARGUMENT'],
    ['22P05', 'INVALID_ARGUMENT'],
    ['54000', 'INVALID_ARGUMENT'],
    ['XX001', 'STORE_CORRUPT'],
    ['XX002', 'STORE_CORRUPT'],
  ])('%s is none: %s', (code, expected) => {
    expect(typed(serverError(code), 'maybe')).toMatchObject({ code: expected })
  })

  test('what is nobody else is a defect of ours, and stays as it is', () => {
    for (const code of ['42601', '23505', '0A000', 'XX000']) {
      const error = serverError(code)
      expect(typed(error, 'maybe')).toBe(error)
    }
  })
})

describe('what the driver or the system said', () => {
  test.each([
    driverError('read ECONNRESET', 'ECONNRESET'),
    driverError('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
    driverError('getaddrinfo ENOTFOUND x', 'ENOTFOUND'),
    driverError('getaddrinfo EAI_AGAIN x', 'EAI_AGAIN'),
    driverError('write EPIPE', 'EPIPE'),
    driverError('connect ETIMEDOUT', 'ETIMEDOUT'),
    driverError('Connection terminated unexpectedly'),
    driverError('Connection terminated'),
    driverError('Connection terminated due to connection timeout'),
    driverError('Client has encountered a connection error and is not queryable'),
    driverError('Client was closed and is not queryable'),
    driverError('Query read timeout'),
    driverError('timeout exceeded when trying to connect'),
    driverError('timeout expired'),
    driverError('Client network socket disconnected before secure TLS connection was established'),
  ])('%o is an outage, and its connection is not used again', (error) => {
    for (const sent of ['no', 'maybe'] as const) {
      expect(typed(error, sent)).toMatchObject({
        code: 'STORE_UNAVAILABLE',
        reason: 'connection',
        sqlState: null,
        sent,
        cause: error,
      })
    }
    expect(spoils(error)).toBe(true)
  })

  test.each([
    driverError('The "data" argument must be of type string', 'ERR_INVALID_ARG_TYPE'),
    new TypeError('x is not a function'),
    driverError('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
  ])('%o is none', (error) => {
    expect(typed(error, 'maybe')).toBe(error)
    expect(spoils(error)).toBe(true)
  })
})
