"""The only importer of Pipecat: transports, services, processors, the builder from YAML."""
