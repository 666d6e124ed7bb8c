import { domains } from '@strongroom/contract'

// What `domain list`, `domain add`, `domain check` and `domain remove` print.

export const domainsShape = domains.list.response.properties.data
export const checkShape = domains.check.response
export const domainShape = domains.add.response
export const removedShape = domains.remove.response
