import { CampaignClient } from 'campaign-client'
import { describe, expect, it } from 'vitest'
import { type AnyEndpoint, endpoints } from '../../src/endpoints/index.ts'
import { validate } from '../../src/schemas/validate.ts'
import { operations } from '../contract/operations.ts'

describe('the catalogue', () => {
  it('has the operations of the contract, and the client has a method for each', () => {
    const names = operations.map(({ name }) => name)
    expect(Object.keys(endpoints)).toEqual(names)
    const otherMembers = ['constructor', 'with']
    expect(Object.getOwnPropertyNames(CampaignClient.prototype).sort()).toEqual([...otherMembers, ...names].sort())
  })

  describe.each(operations)('has $name', ({ name, ...row }) => {
    const endpoint: AnyEndpoint = endpoints[name]

    it('with its method, path and retry rule', () => {
      expect(endpoint.method).toBe(row.method)
      expect(endpoint.path).toBe(row.path === 'not shown' ? undefined : row.path.slice(1))
      expect(endpoint.retry).toBe(row.retry)
    })

    it('with exactly the assumed query names', () => {
      expect(endpoint.assumedQueryNames).toEqual(row.queryNames === 'assumed' ? Object.keys(row.fields) : undefined)
    })

    it('with its fields, required or not', () => {
      const { shape } = endpoint.request as unknown as { readonly shape: object }
      expect(Object.keys(shape)).toEqual(Object.keys(row.fields))
      const { issues = [] } = validate<unknown>(endpoint.request, {}) as { issues?: readonly { path: unknown[] }[] }
      const required = Object.keys(row.fields).filter((field) => !row.fields[field]?.endsWith('?'))
      expect(issues.map(({ path }) => path)).toEqual(required.map((field) => [field]))
    })

    it('with the documented response', () => {
      if (typeof endpoint.response !== 'object') {
        expect(endpoint.response).toBe('data' in row.response ? 'any' : undefined)
        return
      }
      const data: unknown = structuredClone(row.response.data)
      const read = validate<unknown>(endpoint.response, data)
      expect(read).toEqual({ ok: true, value: row.result })
    })
  })
})
