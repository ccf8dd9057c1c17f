/** The address of the service, as this page is reached: a container's port may be another one inside. */
export const baseUrl = `${location.origin}/api/v1`
